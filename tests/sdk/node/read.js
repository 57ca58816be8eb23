// Asks with the Node.js data-plane SDK. Questions come as a JSON array on standard input, answers go to standard output.
const { ApplicationInsightsDataClient } = require('@azure/applicationinsights-query');
const { ApiKeyCredentials } = require('@azure/ms-rest-js');

const app = process.env.AI_APP;
const credentials = new ApiKeyCredentials({ inHeader: { 'x-api-key': process.env.AI_KEY } });
const client = new ApplicationInsightsDataClient(credentials, { baseUri: process.env.AI_BASE });

const ask = {
  metric: ({ metric, options }) => client.metrics.get(app, metric, options),
  events: ({ type, options }) => client.events.getByType(app, type, options),
  query: ({ body }) => client.query.execute(app, body),
};

async function main() {
  const questions = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  const answers = [];
  for (const question of questions) answers.push(await ask[question.kind](question));
  process.stdout.write(JSON.stringify(answers));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
