/** Absolute path of MicroPython's WebAssembly module, which strapi-plugin-apps runs inside its sandbox. */
exports.wasm = require.resolve('@micropython/micropython-webassembly-pyscript/micropython.wasm');
