/** Tells developers in the console what is wrong. @param {...unknown} said */
export const warn = (...said) => console.warn("Docs assistant:", ...said);
