import React from "react";

/** An element that the tag fills with its button. */
export default function SearchBar() {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: so React leaves alone what another script puts into it
  return React.createElement("div", { "data-docs-service-search": "", dangerouslySetInnerHTML: { __html: "" } });
}
