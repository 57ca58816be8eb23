// Sends requests and live metrics with the Node.js SDK of today until a line comes. argv: connection string.
const { useAzureMonitor, shutdownAzureMonitor } = require('applicationinsights-3');
const { trace, SpanKind } = require('@opentelemetry/api');

useAzureMonitor({
  azureMonitorExporterOptions: { connectionString: process.argv[2], disableOfflineStorage: true },
  enableLiveMetrics: true,
});
const tracer = trace.getTracer('test');
const sending = setInterval(() => {
  const attributes = {
    'http.request.method': 'GET', 'url.scheme': 'http', 'server.address': 'till', 'url.path': '/price',
    'http.route': '/price', 'http.response.status_code': 200,
  };
  tracer.startSpan('GET /price', { kind: SpanKind.SERVER, attributes }).end();
}, 300);
process.stdin.on('data', async () => {
  clearInterval(sending);
  await shutdownAzureMonitor();
  process.exit(0);
});
console.log('ready');
