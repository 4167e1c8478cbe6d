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

/** The assistant, for as long as this is rendered. The launcher is at the corner of the page, so nothing is drawn here. */
export function DocsAssistant({ service, domain, assistantKey, hooks, ...options }) {
  const isShown = useRef(false);
  const current = useRef({ options, hooks });
  current.current = { options, hooks };
  useEffect(() => {
    let isMounted = true;
    const show = () => {
      if (!isMounted) return;
      // The hooks of the latest rendering, which may be other functions each time.
      const event = (...happened) => current.current.hooks?.event?.(...happened);
      const error = (failure) => current.current.hooks?.error?.(failure);
      window.DocsAssistant.init({ ...current.current.options, domain, key: assistantKey, hooks: { event, error } });
      isShown.current = true;
    };
    load(service, "widget.js").then(show, () => {});
    return () => {
      isMounted = false;
      if (isShown.current) window.DocsAssistant.destroy();
      isShown.current = false;
    };
  }, [service, domain, assistantKey]);
  const changes = JSON.stringify(options);
  useEffect(() => {
    if (isShown.current) window.DocsAssistant.update(JSON.parse(changes));
  }, [changes]);
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
