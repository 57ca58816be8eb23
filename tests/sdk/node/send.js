// Sends one item of every kind with the Node.js SDK. argv: connection string.
const insights = require('applicationinsights');

process.env.APPLICATION_INSIGHTS_NO_STATSBEAT = '1';
insights
  .setup(process.argv[2])
  .setAutoCollectConsole(false)
  .setAutoCollectRequests(false)
  .setAutoCollectDependencies(false)
  .setAutoCollectPerformance(false, false)
  .setAutoCollectHeartbeat(false)
  .setAutoCollectExceptions(false)
  .setSendLiveMetrics(false)
  .setUseDiskRetryCaching(false)
  .start();

const client = insights.defaultClient;
client.context.tags[client.context.keys.cloudRole] = 'till';
client.context.tags[client.context.keys.userId] = 'cashier-7';
client.trackEvent({ name: 'DrawerOpened', properties: { lane: '4' }, measurements: { coins: 12.5 } });
client.trackMetric({ name: 'queueLength', value: 6, count: 3, min: 1, max: 4, stdDev: 0.5 });
client.trackTrace({ message: 'paper is low', severity: 2 });
client.trackException({ exception: new RangeError('no such product') });
client.trackDependency({
  target: 'db.till', name: 'find product', data: 'select 1', duration: 12, resultCode: 0, success: true,
  dependencyTypeName: 'SQL',
});
client.trackRequest({ name: 'GET /price', url: 'http://till/price', duration: 50, resultCode: 404, success: false });
client.trackPageView({ name: 'Receipt', url: 'http://till/receipt', duration: 9 });
client.trackAvailability({
  id: 'a1', name: 'till answers', success: true, duration: 100, runLocation: 'Lobby', message: 'fine',
});
client.flush({ callback: () => setTimeout(() => process.exit(0), 300) });
setTimeout(() => process.exit(1), 15000);
