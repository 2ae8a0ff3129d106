// Whether somebody has logged in from this browser: the session's cookie is not for scripts to see.

const KEY = "geobucket-login";

export function isLoggedIn() {
  try { return localStorage.getItem(KEY) === "1"; } catch { return false; }
}

export function markLogin(isIn) {
  try {
    if (isIn) localStorage.setItem(KEY, "1");
    else localStorage.removeItem(KEY);
  } catch { /* Then there is no button to log out; the session ends by itself. */ }
}
