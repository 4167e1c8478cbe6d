/** What the build puts into the scripts. */

/** Version of `highlight.js` of this build, a part of its address. */
declare const HIGHLIGHT_VERSION: string;
/** Version of `citation-card.js` of this build, a part of its address. */
declare const CITATION_CARD_VERSION: string;
/** Version of `person-form.js` of this build, a part of its address. */
declare const PERSON_FORM_VERSION: string;
/** Version of `markdown.js` of this build, a part of its address. */
declare const MARKDOWN_VERSION: string;
/** Version of `menu.js` of this build, a part of its address. */
declare const MENU_VERSION: string;
/** Version of `panel.js` of this build, a part of its address. */
declare const PANEL_VERSION: string;
/** Version of `deflect.js` of this build, a part of its address. */
declare const DEFLECT_VERSION: string;
/** Version of `search-dialog.js` of this build, a part of its address. */
declare const SEARCH_DIALOG_VERSION: string;

/** A style sheet is imported as minified text. */
declare module "*.css" {
  const css: string;
  export default css;
}
