/** Warns developers in the console. @param {...unknown} messages */
export const warn = (...messages) => console.warn("Docs assistant:", ...messages);
