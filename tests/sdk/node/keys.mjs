// Prints a new private key as JSON: node keys.mjs ID
import { generateKeyPairSync } from "node:crypto";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
console.log(JSON.stringify({ ...privateKey.export({ format: "jwk" }), kid: process.argv[2], use: "sig", alg: "RS256" }));
