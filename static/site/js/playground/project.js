// The project of the playground: its domain and key, requests with them, and what to do when a request fails.

import { fieldOf } from "../base/dom.js";
import { formatWait } from "../base/sentences.js";

/** @typedef {{ domain?: string, key?: string }} Credentials */

export const UNREACHABLE = "The service cannot be reached. Check your connection.";

/** Reads `#domain=acme&key=svc_dsc_…` of the address, which no server sees. @returns {Credentials} */
const readHash = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

export class Project {
  #domain;
  #key;

  /** @param {HTMLFormElement} form @param {Credentials} defaults */
  constructor(form, defaults) {
    this.#domain = fieldOf(form, "domain");
    this.#key = fieldOf(form, "key");
    const fill = (/** @type {Credentials} */ { domain = "", key = "" }) => {
      this.#domain.value = domain;
      this.#key.value = key;
    };
    const { domain, key } = readHash();
    fill(domain || key ? { domain, key } : defaults);
    addEventListener("hashchange", () => {
      const { domain, key } = readHash();
      if (!domain && !key) return;
      fill({ domain, key });
      form.dispatchEvent(new Event("input"));
    });
  }

  get domain() {
    return this.#domain.value.trim();
  }

  get key() {
    return this.#key.value.trim();
  }

  /** The address of the playground with this project. */
  get link() {
    return `${location.origin}/playground#${new URLSearchParams({ domain: this.domain, key: this.key })}`;
  }

  /** Address of an endpoint. @param {string} endpoint such as `v1/search` @param {string} [suffix] */
  address(endpoint, suffix = "") {
    return `${location.origin}/discovery/${endpoint}/${encodeURIComponent(this.domain)}${suffix}`;
  }

  /** @param {string} url @param {object} body @param {AbortSignal} [signal] */
  post(url, body, signal) {
    return fetch(url, {
      method: "POST",
      headers: { Authorization: `Bearer ${this.key}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
      credentials: "omit",
      cache: "no-store",
      signal,
    });
  }

  /** Why the project cannot be used, as a sentence; empty if it can. @param {AbortSignal} signal */
  async findProblem(signal) {
    const { domain, key } = this;
    if (!domain || !key) return "Enter the domain and an assistant key of a project: “createproject” prints both.";
    const settings = await fetch(this.address("v1/widget"), { credentials: "omit", signal });
    if (settings.status === 404) {
      return `There is no project “${domain}”. Its domain is the short name that it was created with.`;
    }
    const search = await this.post(this.address("v1/search"), { query: "", pageSize: 1 }, signal);
    if (!search.ok) return this.explainFailure(search);
    const { enabled, reason } = settings.ok ? await settings.json() : {};
    return enabled === false ? String(reason) : "";
  }

  /** Why a request failed, and what to do. @param {Response} response whose body has not been read */
  async explainFailure(response) {
    return this.explainStatus(response.status, await errorSentence(response), response.headers.get("Retry-After"));
  }

  /** @param {number} status @param {string} error the service's own sentence @param {string | null} retryAfter seconds */
  explainStatus(status, error, retryAfter) {
    if (status === 401) {
      return `This key is not known, or it is revoked or expired. Make one: manage createkey ${this.domain} --kind assistant`;
    }
    if (status === 403) return `${error} An assistant key begins with “svc_dsc_”.`;
    if (status === 404) return `This key belongs to another project than “${this.domain}”.`;
    if (status === 429) return `Too many requests just now. Try again in ${formatWait(retryAfter)}.`;
    return error || "The service did not answer as expected. Try again shortly.";
  }
}

/** The sentence in the body of an error. @param {Response} response */
async function errorSentence(response) {
  const body = await response.json().catch(() => null);
  return typeof body?.error === "string" ? body.error : "";
}
