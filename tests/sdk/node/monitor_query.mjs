// Asks with @azure/monitor-query-logs. Input: questions; output: the rows of their answers.
import { text } from 'node:stream/consumers';
import { LogsQueryClient } from '@azure/monitor-query-logs';

const questions = JSON.parse(await text(process.stdin));
const credential = { getToken: async () => ({ token: process.env.AI_KEY, expiresOnTimestamp: Date.now() + 3600_000 }) };
const client = new LogsQueryClient(credential, { endpoint: process.env.AI_ENDPOINT });
const span = { duration: 'PT3H' };
const rows = (result) => result.tables[0].rows;

const resources = [];
for (const { id, query } of questions.resources) {
  resources.push(rows(await client.queryResource(id, query, span)));
}
const batch = (await client.queryBatch(questions.batch)).map((result) => (
  result.status === 'Success' ? { status: result.status, rows: rows(result) } : { status: result.status, code: (result.partialError ?? result).code }
));
const workspace = rows(await client.queryWorkspace(questions.workspace.id, questions.workspace.query, span));
console.log(JSON.stringify({ workspace, resources, batch }));
