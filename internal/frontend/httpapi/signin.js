// The sign-in page: sign in with a passkey, and add one.
"use strict";

const status = document.getElementById("status");

// post sends JSON and returns the response, or throws what the server says.
async function post(path, body) {
  const request = { method: "POST" };
  if (body) {
    request.headers = { "Content-Type": "application/json" };
    request.body = JSON.stringify(body);
  }
  const response = await fetch(path, request);
  const data = response.status === 204 ? {} : await response.json();
  if (!response.ok) throw new Error(data.error?.message ?? response.statusText);
  return data;
}

async function signIn() {
  const { publicKey } = await post("/signin/passkey/options");
  const credential = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
  await post("/signin/passkey", credential.toJSON());
  location.assign("/signin");
}

async function add() {
  const { publicKey } = await post("/v1/passkeys/options");
  const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });
  const made = await post("/v1/passkeys", { credential: credential.toJSON() });
  status.textContent = `Added ${made.name}. You can sign in with it from now on.`;
}

// offer shows a button if the browser has passkeys, and runs an action when it is clicked.
function offer(id, action) {
  const button = document.getElementById(id);
  if (!button || !window.PublicKeyCredential?.parseRequestOptionsFromJSON) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    status.textContent = "";
    try {
      await action();
    } catch (error) {
      status.textContent = error.name === "NotAllowedError" ? "Canceled. Try again, or use a link." : error.message;
    }
    button.disabled = false;
  });
}

offer("passkey", signIn);
offer("add-passkey", add);
