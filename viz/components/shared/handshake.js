// Who says what a view shows, when a person and the page's script both may. The script's side is handshake.py.

class Handshake {
  static last = new Map(); // by the caller's key: what a view showed that the page has since mounted anew

  /** `state` is the name of the component's state for Python, `reportOf(value)` what is written there of a value. */
  constructor(state, reportOf) {
    Object.assign(this, { state, reportOf });
  }

  /** The script's wish overrules by a new token; a token that was obeyed before is no news. Returns whether it did. */
  follow({ key, token }, wish, setStateValue) {
    this.setStateValue = setStateValue;
    if (this.token === token) return false;
    const last = this.token === undefined && Handshake.last.get(key);
    this.cancel();
    Object.assign(this, { key, token });
    this.set(last?.token === token ? last.value : wish);
    return true;
  }

  set(value) {
    this.value = value;
    Handshake.last.set(this.key, { token: this.token, value });
  }

  /** Reports the value to Python, after `pause` milliseconds if it is not followed by another one until then. */
  report(pause = 0) {
    this.cancel();
    const send = () => this.setStateValue(this.state, { ...this.reportOf(this.value), token: this.token });
    if (pause) this.pending = setTimeout(send, pause);
    else send();
  }

  cancel() {
    clearTimeout(this.pending);
  }
}
