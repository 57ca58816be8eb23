// Reads the schema and the rows of a query with azure-kusto-data, over both versions of the protocol. Prints them as JSON.
import { Client, ClientRequestProperties, KustoConnectionStringBuilder } from "azure-kusto-data";

const { KUSTO_URL, KUSTO_TOKEN, KUSTO_QUERY } = process.env;
const client = new Client(KustoConnectionStringBuilder.withAccessToken(KUSTO_URL, KUSTO_TOKEN));
const names = ["id", "name", "resultCode", "ok", "duration", "timestamp", "customDimensions", "age"];
const values = (table) => Array.from(table.rows(), (row) => names.map((name) => row[name]));
const column = (reply, name) => Array.from(reply.primaryResults[0].rows(), (row) => row[name]);

const properties = new ClientRequestProperties();
properties.setTimeout(60_000);
const second = await client.executeQuery("shop", KUSTO_QUERY, properties);
const first = await client.executeQueryV1("shop", KUSTO_QUERY);
const databases = await client.execute("shop", ".show databases");
const tables = await client.execute("shop", ".show tables");
const refused = await client.execute("shop", ".drop table requests").catch((error) => error.response.status);
console.log(JSON.stringify({
    rows: values(second.primaryResults[0]),
    first: values(first.primaryResults[0]),
    databases: column(databases, "DatabaseName"),
    tables: column(tables, "TableName"),
    refused,
}));
