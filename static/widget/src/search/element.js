/** The search of any site: the dialog of our documentation in a closed shadow root, with the look of the page. */

import { pageLanguage } from "../../../site/js/base/sentences.js";
import { SearchDialog } from "../../../site/js/search/dialog.js";
import { words } from "../../../site/js/search/site.js";
import { accentColors, colorMix, parseColor } from "../base/accent.js";
import { applyStyles } from "../base/dom.js";
import { fetchSettings, tabState } from "../launcher/settings.js";
import { pageTheme } from "../launcher/theme.js";
import { watchTheme } from "../launcher/theme-changes.js";
import { HostPage } from "../panel/host-page.js";
import { readLabels } from "./labels.js";
import { buildDialog } from "./markup.js";
import css from "./search.css";
import { WORDS } from "./words.js";

/** @typedef {{ accent?: string, font?: string, theme?: string }} Look */

/** Opens a page as a link of the page itself would, so that sites with their own navigation need not load it anew. @param {string} href */
function followLink(href) {
  // The router of Next.js listens to components only.
  const { router } = /** @type {any} */ (window).next ?? {};
  if (router?.push && new URL(href, document.baseURI).origin === location.origin) return router.push(href);
  const link = document.createElement("a");
  link.href = href;
  link.hidden = true;
  document.body.append(link);
  link.click();
  link.remove();
}

/** @param {HTMLScriptElement} script the tag */
export function create(script) {
  const { domain = "", key = "", labels, theme, accent, font } = script.dataset;
  Object.assign(words, WORDS.en, WORDS[pageLanguage()], readLabels(labels));
  const host = document.createElement("docs-search");
  const root = host.attachShadow({ mode: "closed" });
  const dialog = buildDialog();
  root.append(dialog);
  const style = applyStyles(root, [css, ":host{}"], script.nonce);
  const page = new HostPage();
  const field = /** @type {HTMLInputElement} */ (dialog.querySelector("[name=q]"));
  const service = new URL(".", script.dataset.service || script.src).href.slice(0, -1);
  const search = new SearchDialog(dialog, {
    service,
    domain,
    key,
    get readerToken() {
      return script.dataset.readerToken; // the page may replace it at any time
    },
    get preferred() {
      const { language, version } = script.dataset; // the page may change them, too
      return { language: language || pageLanguage(), version: version || undefined };
    },
    linkTo: (_, url) => url,
    askAddress: () => (enabled && document.querySelector("docs-assistant") ? `${service}/ask` : ""),
    ask(query) {
      window.DocsAssistant.ask(query);
      return true;
    },
    follow(link) {
      followLink(link.href);
      field.value = ""; // on the next page, recent pages are offered
      return true;
    },
    pages: () => [],
    reportMissing: null,
  });

  /** @type {Look} */
  let owner = {};
  /** Whether the widget may be used on this page. */
  let enabled = true;

  function applyLook() {
    const look = {
      ...owner,
      ...Object.fromEntries(Object.entries({ theme, accent, font }).filter(([, value]) => value)),
    };
    const set = (/** @type {string} */ name, /** @type {string} */ value) =>
      style()?.setProperty(name, value, "important");
    set("color-scheme", look.theme === "light" || look.theme === "dark" ? look.theme : pageTheme());
    set("--chosen-font", look.font || "initial");
    set("color", look.accent ? colorMix(look.accent) : "");
    const rgb = look.accent && parseColor(getComputedStyle(host).color);
    for (const [use, colors] of Object.entries(accentColors(rgb || [0, 0, 0])))
      set(`--chosen-${use}`, rgb ? `light-dark(${colors})` : "initial");
  }

  /** @param {import("../launcher/settings.js").Settings | null | undefined} settings of the owner */
  function applySettings(settings) {
    if (!settings) return;
    owner = settings.appearance ?? {};
    enabled = settings.enabled;
    if (host.isConnected) applyLook();
  }

  for (const type of ["keydown", "keyup", "keypress"]) host.addEventListener(type, (event) => event.stopPropagation());
  dialog.addEventListener("submit", (event) => event.preventDefault());
  dialog.addEventListener("close", () => {
    if (dialog.open) return; // it was opened again meanwhile
    page.apply({});
    host.remove();
    // Some browsers give the focus back without a caret.
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.select();
  });

  function open(/** @type {string} */ text) {
    if (!host.isConnected) {
      document.body.append(host);
      watchTheme(applyLook);
    }
    if (text) field.value = text;
    if (!dialog.open) dialog.showModal();
    page.apply({ still: true });
    field.focus();
    if (text) field.setSelectionRange(text.length, text.length);
    else field.select();
    search.update(false);
  }

  applySettings(tabState(domain).settings);
  fetchSettings(`${service}/`, domain, AbortSignal.timeout(5000)).then(applySettings);
  return {
    open,
    toggle: () => (dialog.open ? dialog.close() : open("")),
    get isOpen() {
      return dialog.open && host.isConnected;
    },
  };
}
