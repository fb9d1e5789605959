// How a component comes into the page and leaves it.

/**
 * What a component exports: `create(host)` makes its view once for each element that Streamlit gives; `receive` gets
 * data and how to answer whenever the page runs and when its colours change, `remove` cleans up when the element goes.
 */
function mounted(create) {
  const views = new WeakMap();
  return ({ data, parentElement, setStateValue, setTriggerValue }) => {
    if (!views.has(parentElement)) views.set(parentElement, create(parentElement));
    const view = views.get(parentElement);
    view.receive(data, setStateValue, setTriggerValue);
    return () => {
      view.remove();
      views.delete(parentElement);
    };
  };
}

/** A view with an element of its own, `this.root`. */
class View {
  enter(host) {
    host.append(this.root);
  }

  /** Calls `resized` when the size of an element changes. */
  watch(element, resized) {
    this.sizes = new ResizeObserver(resized);
    this.sizes.observe(element);
  }

  remove() {
    this.handshake?.cancel();
    this.sizes?.disconnect();
    this.root.remove();
  }
}
