__wbg_init({ module_or_path: new URL("./ui_bg.wasm", import.meta.url) }).catch((error) => {
  document.getElementById("fault-text").textContent = String(error);
  document.getElementById("fault").hidden = false;
});
