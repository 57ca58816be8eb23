// The types of the bundle preact.js: those of the packages in it.
export { h, render, Fragment, createContext, createRef, cloneElement, toChildArray, Component } from 'preact';
export {
  useCallback, useContext, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useReducer, useRef, useState,
} from 'preact/hooks';
export { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from '@preact/signals';
export type { ReadonlySignal, Signal } from '@preact/signals';
export function html(strings: TemplateStringsArray, ...values: any[]): any;
