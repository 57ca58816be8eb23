// The types of the bundle parquet.js: those of the package in it.
export { parquetWriteBuffer } from 'hyparquet-writer';
