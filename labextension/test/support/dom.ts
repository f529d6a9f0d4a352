// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

/** Parts of browsers that jsdom lacks and JupyterLab's packages look for as they load. */

class Observer {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

class NoDragEvent extends MouseEvent {}

Object.assign(globalThis, {
  ResizeObserver: Observer,
  IntersectionObserver: Observer,
  DragEvent: NoDragEvent,
  matchMedia: () => ({
    matches: false,
    addListener: () => undefined,
    removeListener: () => undefined
  })
});
Object.assign(navigator, { clipboard: {} });
