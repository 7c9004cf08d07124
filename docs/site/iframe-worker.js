// Pages that are opened from the disk may not start workers, and so could not search. There, a worker is a frame that is
// not shown: it loads the same script, and both talk by messages. Nothing is changed where pages come from a server.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      this.inside = inside;
      const page = inside.document;
      page.open();
      page.write("<!doctype html><title>search</title><body></body>");
      page.close();
      inside.postMessage = (data) => this.hear(data);
      inside.importScripts = (...scripts) =>
        scripts.reduce((before, script) => before.then(() => load(page, new URL(script, address).href)), Promise.resolve());
      load(page, address).then(() => {
        this.ready = true;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
    }
    postMessage(data) {
      if (this.ready) this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
    hear(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    terminate() {
      this.frame.remove();
    }
  };
  const load = (page, address) =>
    new Promise((done, failed) => {
      const script = page.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = () => failed(new Error("cannot load " + address));
      page.body.append(script);
    });
}
