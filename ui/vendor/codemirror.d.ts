// The types of the bundle codemirror.js: those of the packages in it.
export * from '@codemirror/state';
export * from '@codemirror/view';
export * from '@codemirror/commands';
export * from '@codemirror/autocomplete';
export * from '@codemirror/lint';
export * from '@codemirror/language';
export * from '@codemirror/search';
