// The types of the bundle uplot.js: those of the package in it.
export { default as uPlot } from 'uplot';
