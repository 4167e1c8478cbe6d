import type { LoadContext, OptionValidationContext, Plugin } from "@docusaurus/types";

declare function docsService(context: LoadContext, options: docsService.Options): Plugin;

declare namespace docsService {
  interface Options {
    /** Where the service runs, such as `https://docs-service.example.com`. */
    service: string;
    /** The project's domain. */
    domain: string;
    /** An assistant key of the project. It is made to be public. */
    key: string;
    /** Whether pages have the assistant, too. Default true. */
    assistant?: boolean;
    /** Further data attributes of the tag by their names, such as `{ accent: "#0a6b5d" }`. Objects become JSON. */
    attributes?: Record<string, unknown>;
  }

  /** Throws a sentence that names the option which is missing or unknown. */
  function validateOptions(given: OptionValidationContext<Options, Options>): Options;
}

export = docsService;
