/** The sentences of the menu's pages. A site replaces each of them by the option `labels`. */

export const WORDS = {
  pastNone: "There are no other conversations from the last 24 hours.",
  forgetWhat:
    "Your questions, answers and ratings are deleted, here and at the service, and you get a new random id. This cannot be undone.",
  forgetYes: "Delete everything",
  forgetting: "Deleting…",
  forgotten: "Your data was deleted.",
  forgottenHere:
    "Your data was deleted in this browser. The service could not be reached, so what it holds is still there.",
  aboutAnswers: "Answers",
  aboutAnswersText:
    "They are made from these docs, as a rule by a language model, and can be wrong. Check the linked pages before you rely on one.",
  aboutKept: "What is kept",
  aboutKeptDay: "This browser keeps your conversations for 24 hours.",
  aboutKeptTab: "This tab keeps your conversation until you close it.",
  aboutKeptThere:
    "The service keeps questions and answers under a random id, to improve the docs. “{forget}” in the menu removes all of it.",
  aboutSent: "What is sent",
  aboutSentText:
    "Your question, what you add to it, and the address of your page. “{page}” in the menu switches the address off.",
  aboutLimits: "Limits",
  aboutLimitsText: "After many questions you have to wait. You are told how long.",
};
