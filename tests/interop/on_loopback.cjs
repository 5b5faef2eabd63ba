// SPDX-License-Identifier: Apache-2.0
// For `node --require`: servers that name no address listen on the loopback one, and not on all. `listen` calls
// this function at once for them; with a host it would look that up first, and have no port when it returns.
const { Server } = require("node:net");
const listen = Server.prototype._listen2;

Server.prototype._listen2 = function (address, port, type, ...more) {
	return listen.call(this, address ?? "127.0.0.1", port, address ? type : 4, ...more);
};
