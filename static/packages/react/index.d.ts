/// <reference path="./widget.d.ts" />
import type { ReactElement } from "react";

interface Service {
  /** Where the service runs, such as `https://docs-service.example.com`. */
  service: string;
  /** The project's domain. */
  domain: string;
  /** An assistant key of the project. It is made to be public. */
  assistantKey: string;
}

/** The options of the widget, which may change at any time. */
export interface DocsAssistantProps extends Service, DocsAssistant.Options {}

export interface DocsSearchProps extends Service {
  /** Further data attributes of the search tag, in camel case and without `data`: `{ accent: "#0a6b5d" }`. */
  attributes?: Record<string, string>;
}

/** The assistant, for as long as this is rendered: put it into the layout. One on a page. */
export function DocsAssistant(props: DocsAssistantProps): null;

/** A button that opens the search, as `/` and Ctrl or ⌘ K do from then on. */
export function DocsSearch(props: DocsSearchProps): ReactElement;
