// An Express application that the official instrumentations watch. It serves one request, which calls itself, and sends the
// spans of both: node express.cjs <protobuf|json|grpc> <endpoint> <instrumentation key>
const [form, endpoint, key] = process.argv.slice(2)
const { NodeSDK } = require('@opentelemetry/sdk-node')
const { ExpressInstrumentation } = require('@opentelemetry/instrumentation-express')
const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http')
const exporters = {
  protobuf: '@opentelemetry/exporter-trace-otlp-proto',
  json: '@opentelemetry/exporter-trace-otlp-http',
  grpc: '@opentelemetry/exporter-trace-otlp-grpc'
}
const { OTLPTraceExporter } = require(exporters[form])

function exporter () {
  if (form !== 'grpc') {
    return new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers: { 'x-instrumentation-key': key } })
  }
  const { credentials, Metadata } = require('@grpc/grpc-js')
  const metadata = new Metadata()
  metadata.set('x-instrumentation-key', key)
  return new OTLPTraceExporter({ url: endpoint, credentials: credentials.createInsecure(), metadata, compression: 'gzip' })
}

const sdk = new NodeSDK({
  serviceName: `kiosk-${form}`,
  traceExporter: exporter(),
  instrumentations: [new HttpInstrumentation(), new ExpressInstrumentation()]
})
sdk.start()
const http = require('http')
const express = require('express')

function get (url) {
  return new Promise((resolve, reject) => http.get(url, reply => reply.resume().on('end', resolve)).on('error', reject))
}

const app = express()
app.get('/papers/:title', async (request, reply) => {
  await get(`http://127.0.0.1:${server.address().port}/stock`)
  reply.send(request.params.title)
})
app.get('/stock', (_, reply) => reply.status(503).send('sold out'))
const server = app.listen(0, '127.0.0.1', async () => {
  const { context } = require('@opentelemetry/api')
  const { suppressTracing } = require('@opentelemetry/core')
  await context.with(suppressTracing(context.active()), () => get(`http://127.0.0.1:${server.address().port}/papers/daily`))
  server.close()
  await sdk.shutdown()
})
