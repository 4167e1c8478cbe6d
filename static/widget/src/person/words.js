/** The sentences of the form to write to a person, by language. A site replaces each of them by the option `labels`. */

/** @type {Record<string, Record<string, string>>} */
export const WORDS = {
  en: {
    personLead: "Your message goes to the people behind these docs. They answer by e-mail.",
    personEmail: "Your e-mail address",
    personSubject: "Subject",
    personMessage: "Message",
    personAlong: "What goes along",
    personAlongHint: "Untick what must not be sent.",
    personEmpty: "Leave this field empty",
    personSend: "Send",
    personSending: "Sending…",
    personSent: "Your message was sent. The answer comes by e-mail to {email}. Its number is {id}.",
    personWrongEmail: "Write an e-mail address, such as name@example.com.",
    personWrongSubject: "Write a subject.",
    personWrongMessage: "Write a message, with at most five links.",
    personTooMany: "You have sent several messages. Try again later.",
    personFailed: "It could not be sent. What you wrote is still here: try again.",
  },
  de: {
    personLead: "Ihre Nachricht geht an die Menschen hinter dieser Dokumentation. Sie antworten per E-Mail.",
    personEmail: "Ihre E-Mail-Adresse",
    personSubject: "Betreff",
    personMessage: "Nachricht",
    personAlong: "Was mitgeht",
    personAlongHint: "Nehmen Sie den Haken weg, wo etwas nicht mitgehen soll.",
    personEmpty: "Lassen Sie dieses Feld leer",
    personSend: "Senden",
    personSending: "Wird gesendet…",
    personSent: "Ihre Nachricht ist abgeschickt. Die Antwort kommt per E-Mail an {email}. Ihre Nummer ist {id}.",
    personWrongEmail: "Schreiben Sie eine E-Mail-Adresse, etwa name@example.com.",
    personWrongSubject: "Schreiben Sie einen Betreff.",
    personWrongMessage: "Schreiben Sie eine Nachricht mit höchstens fünf Links.",
    personTooMany: "Sie haben schon mehrere Nachrichten geschickt. Versuchen Sie es später noch einmal.",
    personFailed:
      "Das konnte nicht gesendet werden. Was Sie geschrieben haben, steht noch hier: Versuchen Sie es noch einmal.",
  },
};
