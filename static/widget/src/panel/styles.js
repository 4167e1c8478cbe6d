/** The style sheets of the panel, in the order in which they apply. */

import frame from "../base/frame.css";
import composer from "../composer/composer.css";
import answer from "../transcript/answer.css";
import turns from "../transcript/turns.css";
import panel from "./panel.css";

export const sheets = [frame, panel, turns, answer, composer];
