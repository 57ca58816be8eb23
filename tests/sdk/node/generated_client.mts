// Runs a query and lists events through types that were generated from /openapi.json: node generated_client.mjs URL APP KEY
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const [url, app, key] = process.argv.slice(2) as [string, string, string];
const client = createClient<paths>({ baseUrl: url, headers: { "X-Api-Key": key } });
const path = { version: "v1", appId: app } as const;
const query = await client.POST("/{version}/apps/{appId}/query", {
  params: { path },
  body: { query: "customEvents | project name" },
});
const events = await client.GET("/{version}/apps/{appId}/events/{eventType}", {
  params: { path: { ...path, eventType: "customEvents" }, query: { $top: 5, $filter: "customEvent/name eq 'Order'" } },
});
console.log(JSON.stringify({ query: query.data, events: events.data }));
