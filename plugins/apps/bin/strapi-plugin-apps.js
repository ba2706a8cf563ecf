#!/usr/bin/env node
// Without the syntax of newer versions, so that an old Node.js can print the message.
var major = Number(process.versions.node.split('.')[0]);
if (major < 20) {
  console.error(`strapi-plugin-apps needs Node.js 20 or newer; this is ${process.versions.node}`);
  process.exit(2);
}
require('../dist/cli/index.js');
