"use client";

import { createElement, useEffect, useRef } from "react";

/** Attribute of the elements that get the search button. */
const CONTAINER = "data-docs-service-search";

/** What was loaded, by address: one tag of each is enough for a page. @type {Map<string, Promise<unknown>>} */
const loads = new Map();

/**
 * Loads a script of the service, unless that was done. After a failure the next call tries again.
 * @param {string} service
 * @param {string} name
 * @param {Record<string, string | undefined>} [data] attributes of the tag
 */
function load(service, name, data = {}) {
  const src = `${service.replace(/\/+$/, "")}/${name}`;
  const loading = new Promise((resolve, reject) => {
    if (loads.has(src)) return resolve(loads.get(src));
    const tag = document.createElement("script");
    Object.assign(tag, { src, async: true, onload: resolve, onerror: () => reject(`${src} could not be loaded.`) });
    for (const [key, value] of Object.entries(data)) if (value !== undefined) tag.dataset[key] = value;
    document.head.append(tag);
  });
  loads.set(src, loading);
  return loading.catch((error) => {
    loads.delete(src);
    console.warn("Docs assistant:", error);
    throw error;
  });
}

/** Starts the assistant with the options and hooks of the latest rendering. Returns these options. */
function start(domain, key, latest) {
  // Each rendering may have other functions.
  const event = (...happened) => latest.current.hooks?.event?.(...happened);
  const error = (failure) => latest.current.hooks?.error?.(failure);
  const options = JSON.parse(latest.current.changes);
  window.DocsAssistant.init({ ...options, domain, key, hooks: { event, error } });
  return options;
}

/** The assistant, for as long as this is rendered. The launcher is at the corner of the page, so nothing is drawn here. */
export function DocsAssistant({ service, domain, assistantKey, hooks, ...options }) {
  const isShown = useRef(false);
  const changes = JSON.stringify(options);
  const latest = useRef({ changes, hooks });
  latest.current = { changes, hooks };
  const given = useRef({});
  useEffect(() => {
    let isMounted = true;
    const show = () => {
      if (!isMounted) return;
      given.current = start(domain, assistantKey, latest);
      isShown.current = true;
    };
    load(service, "widget.js").then(show, () => {});
    return () => {
      isMounted = false;
      if (isShown.current) window.DocsAssistant.destroy();
      isShown.current = false;
    };
  }, [service, domain, assistantKey]);
  useEffect(() => {
    if (!isShown.current) return;
    const before = given.current;
    given.current = JSON.parse(changes);
    if (Object.keys(before).every((name) => name in given.current)) window.DocsAssistant.update(given.current);
    else {
      // An update cannot take an option back.
      window.DocsAssistant.destroy();
      start(domain, assistantKey, latest);
    }
  }, [changes, domain, assistantKey]);
  return null;
}

/** A button that opens the search. The first one on a page decides about the attributes of the tag. */
export function DocsSearch({ service, domain, assistantKey, attributes }) {
  const first = useRef(attributes);
  useEffect(() => {
    const data = { ...first.current, domain, key: assistantKey, container: `[${CONTAINER}]` };
    load(service, "search.js", data).catch(() => {});
  }, [service, domain, assistantKey]);
  return createElement("div", { [CONTAINER]: "", dangerouslySetInnerHTML: { __html: "" } });
}
