// What an application without telemetry shows: how to send the first item, and the wait for it.

import { html, useEffect, useState } from '../vendor/preact.js';
import { query } from '../lib/api.js';
import { application } from '../lib/apps.js';
import { Copy } from './copy.js';

/** How often it is looked for the first item, in milliseconds. */
const EVERY = 1500;

const ANY = 'union requests, dependencies, exceptions, traces, customEvents, pageViews, availabilityResults, browserTimings, customMetrics, performanceCounters\n| take 1\n| count';

/**
 * Whether an application has any telemetry; `null` until that is known. It is asked again while there is none.
 * @param {string} app
 */
export function useHasTelemetry(app) {
  const [has, setHas] = useState(/** @type {boolean | null} */ (null));
  useEffect(() => {
    const controller = new AbortController();
    let timer = /** @type {any} */ (null);
    const ask = async () => {
      try {
        const { tables } = await query(app, ANY, { noCache: true, signal: controller.signal, later: true });
        const found = Number(tables[0].rows[0][0]) > 0;
        setHas(found);
        if (found) return;
      } catch {
        // The banner says what is wrong with the server.
      }
      if (!controller.signal.aborted) timer = setTimeout(ask, EVERY);
    };
    ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [app]);
  return has;
}

/** @param {{app: string}} properties */
export function SendSomething({ app }) {
  const of = application.value;
  if (of === null) return null;
  return html`<section class="card" aria-labelledby="send">
    <h2 id="send">${app} has sent nothing yet</h2>
    <p role="status"><span class="waiting" aria-hidden="true"></span>Waiting for the first item. It appears here by itself.</p>
    <${Lines} of=${of} />
  </section>`;
}

/** Whether the server takes OpenTelemetry as exporters of OTLP send it: its own document says so. */
function useTakesOtlp() {
  const [takes, setTakes] = useState(false);
  useEffect(() => {
    fetch('/openapi.json').then((reply) => reply.json()).then(({ paths }) => setTakes('/v1/traces' in paths), () => {
      // The other lines work all the same.
    });
  }, []);
  return takes;
}

/**
 * The lines that make an application send.
 * @param {{of: import('../lib/apps.js').Application}} properties
 */
export function Lines({ of }) {
  const takesOtlp = useTakesOtlp();
  const item = {
    name: 'Microsoft.ApplicationInsights.Message', time: 'NOW', iKey: of.instrumentationKey,
    data: { baseType: 'MessageData', baseData: { ver: 2, message: 'Hello from curl', severityLevel: 1 } },
  };
  const body = JSON.stringify(item).replace('"NOW"', '"\'$(date -u +%FT%TZ)\'"');
  return html`
    <h3>An Application Insights SDK, or the OpenTelemetry distribution of Azure Monitor</h3>
    <${Copy} label="Connection string" text=${`APPLICATIONINSIGHTS_CONNECTION_STRING="${of.connectionString}"`} />
    ${takesOtlp && html`<h3>Any OpenTelemetry SDK, over OTLP</h3>
      <${Copy} label="OTLP" text=${`OTEL_EXPORTER_OTLP_ENDPOINT="${location.origin}"
OTEL_EXPORTER_OTLP_HEADERS="x-instrumentation-key=${of.instrumentationKey}"`} />`}
    <h3>Python with OpenTelemetry</h3>
    <${Copy} label="OpenTelemetry in Python" text=${`pip install azure-monitor-opentelemetry

from azure.monitor.opentelemetry import configure_azure_monitor
configure_azure_monitor(connection_string="${of.connectionString}")`} />
    <h3>One line, for a look</h3>
    <${Copy} label="curl" text=${`curl -s ${location.origin}/v2.1/track -H 'Content-Type: application/json' -d '${body}'`} />`;
}
