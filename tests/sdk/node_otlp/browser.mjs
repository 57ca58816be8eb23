// What a page loads to send spans: bundled by esbuild, and given window.ENDPOINT and window.KEY.
import { TracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'

const exporter = new OTLPTraceExporter({ url: `${window.ENDPOINT}/v1/traces`, headers: { 'x-instrumentation-key': window.KEY } })
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
const span = provider.getTracer('page').startSpan('render cart')
span.setAttribute('items', 3)
span.end()
provider.forceFlush().then(() => { document.title = 'sent' }, error => { document.title = `failed: ${error}` })
