// Signs a GET request as an agent does. Arguments: the address, the origin of the agent's keys, a private JWK.
import { signatureHeaders } from "web-bot-auth";
import { signerFromJWK } from "web-bot-auth/crypto";

const [url, origin, jwk] = process.argv.slice(2);
const agent = { "Signature-Agent": JSON.stringify(origin) };
const now = new Date();
const signed = await signatureHeaders(
  new Request(url, { headers: agent }),
  await signerFromJWK(JSON.parse(jwk)),
  { created: now, expires: new Date(now.getTime() + 300_000) },
);
console.log(JSON.stringify({ ...agent, ...signed }));
