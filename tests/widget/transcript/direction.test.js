import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isRightToLeft } from "../../../static/widget/src/transcript/direction.js";

describe("the direction of a text", () => {
  const texts = {
    "Docker هو الطريقة الأسهل لتشغيل الخدمة": true,
    "Nginx, Caddy ו־HAProxy הם שלושה שרתים מוכרים": true,
    "کافی است دستور make demo را اجرا کنید": true,
    "1. 2. 3.": false,
    "١٢٣": false,
    "": false,
    "The Arabic word سلام means peace, and is a greeting.": false,
    "Installez le service avec pip.": false,
    日本語の文章: false,
  };
  for (const [text, expected] of Object.entries(texts))
    it(text || "none", () => assert.equal(isRightToLeft(text), expected));
});
