/** A test file that is run once more, in another way (logic/reused.test.ts). */
declare module '*?reused';
