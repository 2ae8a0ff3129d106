// All tests of pure modules.
import "./values.js";
import "./text.js";
import "./sphere.js";
import "./grid.js";
import "./query.js";
import "./shell.js";
import "./address.js";
import "./watch-state.js";
import "./mark-set.js";
import "./names.js";
import "./open-with.js";
import "./tiles.js";
import "./sentences.js";

export { run } from "./check.js";
