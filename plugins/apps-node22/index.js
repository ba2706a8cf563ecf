module.exports = require('isolated-vm');
