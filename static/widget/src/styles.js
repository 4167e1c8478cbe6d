/** The style sheets of the panel, in the order in which they apply. Side by side they also compress best. */

import frame from "./frame.css";
import panel from "./panel.css";
import menu from "./menu.css";
import prose from "./prose.css";
import code from "./code.css";
import card from "./card.css";
import turns from "./turns.css";
import answer from "./answer.css";
import composer from "./composer.css";

export const sheets = [frame, panel, menu, prose, code, card, turns, answer, composer];
