// The login page: gives the token to the service, which answers with a cookie, and goes back to the view behind the #,
// or to the catalogue.
import { markLogin } from "./login-mark.js";
import { errorSentence } from "./sentences.js";

const form = document.getElementById("form");
const field = document.getElementById("token");
const error = document.getElementById("error");

// Before this script runs, the browser itself would send the form.
form.querySelector("button").disabled = false;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  error.textContent = "";
  form.querySelector("button").disabled = true;
  const sentence = await logIn(field.value.trim());
  form.querySelector("button").disabled = false;
  if (sentence === null) {
    location.replace(location.hash === "#catalogue" ? "./" : `map${location.hash}`);
    return;
  }
  error.textContent = sentence;
  field.select();
});

/** `null`, or why the service did not log us in. */
async function logIn(token) {
  let response;
  try {
    response = await fetch("login", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }),
    });
  } catch {
    return "The service does not answer.";
  }
  if (response.ok) {
    markLogin(true);
    return null;
  }
  try {
    const { message, errorCode } = await response.json();
    return errorSentence({ message, errorCode });
  } catch {
    return `The service has refused the token (status ${response.status}).`;
  }
}
