// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { PromiseDelegate } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import type { IAcpConnection } from '../../src/api/connection';
import type {
  IWorkspaceDocument,
  IWorkspaceUpdate,
  Method
} from '../../src/protocol';
import { WorkspaceTracker } from '../../src/workspace/tracker';

/** The parts of JupyterLab's documents that the workspace tracker looks at. */

export class FakeKernel {
  constructor(
    readonly name: string,
    language?: string
  ) {
    if (language) {
      this.tell(language);
    }
  }

  status = 'idle';

  get info(): Promise<unknown> {
    return this._info.promise;
  }

  tell(language: string): void {
    this._info.resolve({ language_info: { name: language } });
  }

  private readonly _info = new PromiseDelegate<unknown>();
}

class FakeSessionContext {
  session: { kernel: FakeKernel } | null = null;
  readonly kernelChanged = new Signal<this, void>(this);
  readonly statusChanged = new Signal<this, void>(this);

  use(kernel: FakeKernel): void {
    this.session = { kernel };
    this.kernelChanged.emit();
  }
}

class FakeModel {
  dirty = false;
  mimeType = 'text/plain';
  metadata: Record<string, unknown> = {};
  readonly selections = { changed: new Signal<object, void>(this) };
  readonly contentChanged = new Signal<this, void>(this);
  readonly stateChanged = new Signal<this, void>(this);
  readonly mimeTypeChanged = new Signal<this, void>(this);
}

export class FakeContext {
  constructor(
    public path: string,
    readonly type = path.endsWith('.ipynb') ? 'notebook' : 'file',
    readonly format = 'text'
  ) {}

  isReady = true;
  isDisposed = false;
  readonly loaded = new PromiseDelegate<void>();
  readonly model = new FakeModel();
  readonly sessionContext = new FakeSessionContext();
  readonly pathChanged = new Signal<this, string>(this);
  readonly fileChanged = new Signal<this, void>(this);
  readonly disposed = new Signal<this, void>(this);

  get ready(): Promise<void> {
    return this.loaded.promise;
  }

  get contentsModel(): object | null {
    return this.isReady ? { type: this.type, format: this.format } : null;
  }

  load(): void {
    this.isReady = true;
    this.loaded.resolve();
  }

  rename(path: string): void {
    this.path = path;
    this.pathChanged.emit(path);
  }

  edit(): void {
    this.model.dirty = true;
    this.model.contentChanged.emit();
    this.model.stateChanged.emit();
  }
}

export class FakeWidget {
  constructor(readonly context: FakeContext | null = null) {}

  isVisible = false;
  isDisposed = false;
  content: object = {};
  readonly node = document.createElement('div');
  readonly disposed = new Signal<this, void>(this);

  close(): void {
    this.isDisposed = true;
    this.disposed.emit();
  }
}

/** A notebook with cells that have no editors. */
export function notebookContent(cells: string[]): {
  activate: (index: number) => void;
} & object {
  const content = {
    activeCellIndex: 0,
    activeCell: null as object | null,
    activeCellChanged: new Signal<object, object | null>({}),
    viewportNode: document.createElement('div'),
    activate: (index: number) => {
      content.activeCellIndex = index;
      content.activeCell = {
        editor: null,
        model: {
          id: cells[index],
          type: 'code',
          selections: { changed: new Signal<object, void>({}) }
        }
      };
      content.activeCellChanged.emit(content.activeCell);
    }
  };
  content.activate(0);
  return content;
}

export class FakeConnection {
  status: IAcpConnection.Status = 'connected';
  readonly statusChanged = new Signal<this, IAcpConnection.Status>(this);
  readonly sent: IWorkspaceUpdate[] = [];
  readonly times: number[] = [];

  notify(_: typeof Method.workspaceUpdate, params: IWorkspaceUpdate): void {
    if (this.status === 'connected') {
      this.sent.push(JSON.parse(JSON.stringify(params)) as IWorkspaceUpdate);
      this.times.push(Date.now());
    }
  }

  become(status: IAcpConnection.Status): void {
    this.status = status;
    this.statusChanged.emit(status);
  }
}

class FakeSettings {
  readonly composite: Record<string, boolean | number> = {};
  readonly changed = new Signal<this, void>(this);
}

class FakeRecents {
  recentlyOpened: object[] = [];
  readonly recentlyClosed: object[] = [];
  readonly changed = new Signal<this, void>(this);
}

/** A window with tabs, and a tracker that watches it. */
export class FakeLab {
  readonly connection = new FakeConnection();
  readonly layoutModified = new Signal<this, void>(this);
  readonly currentChanged = new Signal<this, void>(this);
  readonly specsChanged = new Signal<this, void>(this);
  readonly tabs: FakeWidget[] = [];
  currentWidget: FakeWidget | null = null;
  specs: Record<string, { language: string }> = {};
  readonly settings = new FakeSettings();
  readonly recents = new FakeRecents();

  start(): WorkspaceTracker {
    return new WorkspaceTracker({
      connection: this.connection,
      layoutModified: this.layoutModified,
      shell: this,
      manager: {
        contextForWidget: (widget: FakeWidget) => widget.context ?? undefined
      },
      registry: { getFileTypesForPath: () => [] },
      contents: {
        driveName: (path: string) => (path.includes(':') ? 'other' : ''),
        localPath: (path: string) => path
      },
      kernelspecs: {
        specsChanged: this.specsChanged,
        specs: { kernelspecs: this.specs }
      },
      languages: {
        findByFileName: (path: string) =>
          path.endsWith('.py')
            ? { name: 'Python', mime: 'text/x-python' }
            : null,
        findByMIME: () => null
      },
      recents: this.recents,
      settings: this.settings
    } as unknown as WorkspaceTracker.IOptions);
  }

  widgets(area: string): FakeWidget[] {
    if (area === 'down') {
      throw new Error('no such area');
    }
    return area === 'main' ? this.tabs : [];
  }

  /** Open a tab and turn to it. */
  open(context: FakeContext | null, content: object = {}): FakeWidget {
    const widget = new FakeWidget(context);
    widget.content = content;
    this.tabs.push(widget);
    this.turnTo(widget);
    return widget;
  }

  /** Open a tab behind the others. */
  openBehind(context: FakeContext): FakeWidget {
    const widget = new FakeWidget(context);
    this.tabs.push(widget);
    this.layoutModified.emit();
    return widget;
  }

  turnTo(widget: FakeWidget | null): void {
    this.currentWidget = widget;
    this.currentChanged.emit();
  }

  close(widget: FakeWidget, next: FakeWidget | null): void {
    this.tabs.splice(this.tabs.indexOf(widget), 1);
    widget.close();
    this.turnTo(next);
  }

  set(key: string, value: boolean | number): void {
    this.settings.composite[key] = value;
    this.settings.changed.emit();
  }

  /** Everything that is due, and what was sent for it. */
  async sent(): Promise<IWorkspaceUpdate[]> {
    await jest.advanceTimersByTimeAsync(500);
    return this.connection.sent.splice(0);
  }

  /** The only message that is due. */
  async update(): Promise<Omit<IWorkspaceUpdate, 'window'>> {
    const all = await this.sent();
    expect(all).toHaveLength(1);
    const update: Partial<IWorkspaceUpdate> = all[0];
    delete update.window;
    return update;
  }
}

export function pathsOf(documents?: IWorkspaceDocument[]): string[] {
  return (documents ?? []).map(({ path }) => path);
}
