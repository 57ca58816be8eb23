// A certified OpenID provider for one test: node provider.mjs PORT KEYS.json AUDIENCE
// Its signing keys come from a file, so that the test can start it again with others.
import { readFileSync } from "node:fs";
import Provider from "oidc-provider";

const [port, keys, audience] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  jwks: { keys: JSON.parse(readFileSync(keys, "utf8")) },
  clients: [{
    client_id: "reports",
    client_secret: "a-secret-of-the-other-provider",
    grant_types: ["client_credentials"],
    redirect_uris: [],
    response_types: [],
    scope: "Data.Read",
  }],
  scopes: ["openid", "Data.Read"],
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => audience,
      getResourceServerInfo: (_context, resource) => ({
        audience: resource,
        scope: "Data.Read",
        accessTokenFormat: "jwt",
        accessTokenTTL: 600,
        jwt: { sign: { alg: "RS256" } },
      }),
    },
  },
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
