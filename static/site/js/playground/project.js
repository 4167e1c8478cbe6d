// The project that the playground is about: its domain and key, requests with them, and what to do when one fails.

import { wait } from "../base/labels.js";

/** `#domain=acme&key=svc_dsc_…` of the address, which no server sees. */
const named = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

export class Project {
  #fields;

  /** @param {HTMLFormElement} form @param {{ domain: string, key: string }} own what to begin with */
  constructor(form, own) {
    this.#fields = form.elements;
    const fill = (given) => {
      for (const name of ["domain", "key"]) this.#fields[name].value = given[name] ?? "";
    };
    const { domain, key } = named();
    fill(domain || key ? { domain, key } : own);
    addEventListener("hashchange", () => {
      const { domain, key } = named();
      if (!domain && !key) return;
      fill({ domain, key });
      form.dispatchEvent(new Event("input"));
    });
  }

  get domain() {
    return this.#fields.domain.value.trim();
  }

  get key() {
    return this.#fields.key.value.trim();
  }

  /** The playground with this project. */
  get link() {
    return `${location.origin}/playground#${new URLSearchParams({ domain: this.domain, key: this.key })}`;
  }

  /** Address of an endpoint, such as `v1/search`. @param {string} what @param {string} [more] */
  address(what, more = "") {
    return `${location.origin}/discovery/${what}/${encodeURIComponent(this.domain)}${more}`;
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

  /** Why the project cannot be used, as a sentence; empty when it can. @param {AbortSignal} signal */
  async problem(signal) {
    const { domain, key } = this;
    if (!domain || !key) return "Enter the domain and an assistant key of a project: “createproject” prints both.";
    const told = await fetch(this.address("v1/widget"), { credentials: "omit", signal });
    if (told.status === 404)
      return `There is no project “${domain}”. Its domain is the short name that it was created with.`;
    const tried = await this.post(this.address("v1/search"), { query: "", pageSize: 1 }, signal);
    if (!tried.ok) return this.failure(tried.status, await sentence(tried), tried.headers.get("Retry-After"));
    const { enabled, reason } = told.ok ? await told.json() : {};
    return enabled === false ? reason : "";
  }

  /** What a status means here, and what to do. @param {number} status @param {string} said by the service @param {string | null} seconds to wait */
  failure(status, said, seconds) {
    if (status === 401)
      return `This key is not known, or it is revoked or expired. Make one: manage createkey ${this.domain} --kind assistant`;
    if (status === 403) return `${said} An assistant key begins with “svc_dsc_”.`;
    if (status === 404) return `This key belongs to another project than “${this.domain}”.`;
    if (status === 429) return `Too many requests just now. Try again in ${wait(seconds)}.`;
    return said || "The service did not answer as expected. Try again shortly.";
  }
}

export const UNREACHABLE = "The service cannot be reached. Check your connection.";

/** What an error's body says. @param {Response} response */
export async function sentence(response) {
  const body = await response.json().catch(() => null);
  return typeof body?.error === "string" ? body.error : "";
}
