/** What the script of the embed tag puts on a page. */

declare namespace DocsAssistant {
  /** Names of the widget's sentences. What stands in braces in one, such as `{n}`, is filled in. */
  type Label =
    | "name"
    | "launcher"
    | "placeholder"
    | "question"
    | "close"
    | "retry"
    | "loading"
    | "notLoaded"
    | "locale"
    | "wider"
    | "narrower"
    | "greeting"
    | "promise"
    | "starters"
    | "caution"
    | "transcript"
    | "send"
    | "stop"
    | "newThread"
    | "latest"
    | "unsend"
    | "placeholderAbout"
    | "attached"
    | "added"
    | "remove"
    | "thisPage"
    | "quoted"
    | "codeChip"
    | "pasted"
    | "line"
    | "lines"
    | "pastedHint"
    | "cutShort"
    | "tooMany"
    | "fileTooLarge"
    | "fileNotText"
    | "drop"
    | "count"
    | "left"
    | "editing"
    | "menu"
    | "past"
    | "pastNone"
    | "download"
    | "tellPage"
    | "about"
    | "back"
    | "person"
    | "forget"
    | "forgetWhat"
    | "forgetYes"
    | "forgetting"
    | "forgotten"
    | "forgottenHere"
    | "aboutAnswers"
    | "aboutAnswersText"
    | "aboutKept"
    | "aboutKeptDay"
    | "aboutKeptTab"
    | "aboutKeptThere"
    | "aboutSent"
    | "aboutSentText"
    | "aboutLimits"
    | "aboutLimitsText"
    | "proceed"
    | "cancel"
    | "code"
    | "languages"
    | "wrap"
    | "copyCode"
    | "copy"
    | "copied"
    | "more"
    | "asked"
    | "answered"
    | "sources"
    | "searchedFor"
    | "readPage"
    | "next"
    | "source"
    | "open"
    | "context"
    | "rate"
    | "helpful"
    | "unhelpful"
    | "whatWasWrong"
    | "inaccurate"
    | "incomplete"
    | "outOfDate"
    | "offTopic"
    | "comment"
    | "noMore"
    | "sendFeedback"
    | "thanks"
    | "takenBack"
    | "queued"
    | "reconnecting"
    | "sending"
    | "searching"
    | "searchingFor"
    | "reading"
    | "answering"
    | "complete"
    | "completeOne"
    | "completeMany"
    | "stopped"
    | "cutLength"
    | "cutFilter"
    | "restarted"
    | "paused"
    | "rungSecondModel"
    | "rungExtractive"
    | "rungNearestPages"
    | "justNow"
    | "indexed"
    | "failed"
    | "empty"
    | "lost"
    | "unreachable"
    | "silent"
    | "offline"
    | "busy"
    | "later"
    | "status";

  /** The sentences of the form to write to a person, in English or German by the label `locale`. */
  type PersonLabel =
    | "personLead"
    | "personEmail"
    | "personSubject"
    | "personMessage"
    | "personAlong"
    | "personAlongHint"
    | "personEmpty"
    | "personSend"
    | "personSending"
    | "personSent"
    | "personWrongEmail"
    | "personWrongSubject"
    | "personWrongMessage"
    | "personTooMany"
    | "personFailed";

  /** How the widget looks and what it knows. What the page sets goes before what the owner set in the admin. */
  interface Options {
    /** How the conversation opens: a popover by its launcher, a column beside the page, or a dialog over it. Default `widget`. Small screens are covered by each. */
    variant?: "widget" | "panel" | "modal";
    /** `system` (the default) follows the page, then the reader's system, live. */
    theme?: "system" | "light" | "dark";
    /**
     * Any CSS colour, but none of the page's (`var(--brand)`, `currentColor`). Launcher and send button have it, with black or white on it;
     * as text and lines it is darkened or lightened as far as its contrast needs.
     */
    accent?: string;
    /** Of the corners, 0 to 32 pixels. Default 16. */
    radius?: number;
    /** A CSS font-family. Default: the system's. */
    font?: string;
    /** Where the launcher and what it opens stand; `start` and `end` follow the direction of writing. Default `end`. */
    side?: "start" | "end" | "left" | "right";
    /** Default `bottom`. */
    align?: "bottom" | "top";
    /** Address of an image, of the page's own origin or the service's. */
    logo?: string;
    /** Default 2147483000. */
    zIndex?: number;
    /** Of the page's content security policy. Default: that of the script. Only browsers without constructable style sheets need it. */
    nonce?: string;
    /** How long conversations are kept: a `day` (the default), or as long as the `tab`. */
    memory?: "day" | "tab";
    /** Whether Ctrl or ⌘ I opens and closes it, and Ctrl or ⌘ Shift O begins a new conversation. Default true. */
    shortcuts?: boolean;
    /** Sentences in the place of the widget's own, by name. */
    labels?: { [name in Label | PersonLabel]?: string };
    /** Up to three questions to show in an empty conversation. */
    starterQuestions?: string[];
    /** Which part of the documentation is searched. */
    filter?: { version?: string; language?: string; tag?: string };
    /** A token that your site has signed, with the groups of its reader. */
    readerToken?: string;
    /** Told of what happens. No reader's words are among it. */
    hooks?: Hooks;
    /** Address of the form to write to a person. Default: that of the project, if it takes support requests. Empty: none. */
    support?: string;
  }

  interface Hooks {
    /** `detail` is empty but for `answer`, `limit` and `feedback`. */
    event?: (name: Happening, detail: Partial<Answer & Limit & Feedback>) => void;
    error?: (detail: Failure) => void;
  }

  type Happening =
    | "ready"
    | "open"
    | "close"
    | "ask"
    | "answer"
    | "stop"
    | "retry"
    | "edit"
    | "restart"
    | "feedback"
    | "limit"
    | "reconnect"
    | "forget"
    | "download";

  /** With `answer`. */
  interface Answer {
    /** What made it: `model`, or what stood in for it. */
    rung: string;
    /** How many. */
    sources: number;
    /** Whether the documentation had no answer. */
    refused: boolean;
    /** From the question on; null after a reload. */
    ms: number | null;
  }

  /** With `limit`. */
  interface Limit {
    /** Until the question is sent by itself. */
    seconds: number;
  }

  /** With `feedback`. */
  interface Feedback {
    /** Null when it is taken back. */
    helpful: boolean | null;
  }

  interface Failure {
    /** As HTTP would have had it, else 0. */
    status: number;
    /** What failed: the service's answer, the way to it, what the reader thought of an answer, its deletion, or the widget's own script. */
    kind: "service" | "connection" | "feedback" | "forget" | "panel";
  }

  /** Which documentation is asked, and with which key. They stay until `destroy`. */
  interface Project {
    domain: string;
    /** An assistant key. It is made to be public. */
    key: string;
  }

  /** Something on the page that a question is about. The reader sees it before it is sent, and may remove it. */
  interface Context {
    type: "code" | "textSelection";
    value: string;
    /** The page it is from. */
    path?: string;
    /** The id of the element it is from. */
    elementId?: string;
    /** How it is called. */
    label?: string;
    /** Of a file, or a language: how code without a label is called. */
    name?: string;
  }

  interface Widget {
    /** Begins, where the tag has no `data-domain`. Throws without domain and key, and while there is one on the page. */
    init(options: Options & Project): void;
    /** Opens it, with what the next question is about. `focus: false` leaves the focus where it is. */
    open(how?: { context?: Context[]; focus?: boolean }): void;
    close(): void;
    /** Opens it and asks. While an answer is running, the text waits in the field. */
    ask(text: string, how?: { context?: Context[] }): void;
    /** Changes options, at once. The conversation goes on. */
    update(options: Options): void;
    /** Begins a new conversation. */
    reset(): void;
    /** Takes it off the page, until `init` or another tag. */
    destroy(): void;
  }
}

declare const DocsAssistant: Readonly<DocsAssistant.Widget>;

interface Window {
  readonly DocsAssistant: Readonly<DocsAssistant.Widget>;
}
