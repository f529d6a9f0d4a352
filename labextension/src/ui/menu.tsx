// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

import { Button, type LabIcon, MenuSvg } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import * as React from 'react';

export interface IMenuItem {
  label: string;
  icon?: LabIcon;
  isEnabled?: boolean;
  run: () => void;
}

/** Open a menu below an element, which has the focus again when it closes. */
function openMenu(anchor: HTMLElement, items: IMenuItem[]): void {
  const commands = new CommandRegistry();
  const menu = new MenuSvg({ commands });
  items.forEach((item, index) => {
    const command = `item-${index}`;
    commands.addCommand(command, {
      label: item.label,
      icon: item.icon,
      isEnabled: () => item.isEnabled ?? true,
      describedBy: { args: { type: 'object', properties: {} } },
      execute: item.run
    });
    menu.addItem({ command });
  });
  const onClose = (): void => {
    // It closes once more when it is disposed of.
    menu.aboutToClose.disconnect(onClose);
    anchor.focus();
    // Not before the command that was chosen has run.
    setTimeout(() => menu.dispose());
  };
  menu.aboutToClose.connect(onClose);
  const { right, bottom } = anchor.getBoundingClientRect();
  menu.open(right, bottom, { horizontalAlignment: 'right' });
  menu.activeIndex = 0;
}

/** What a row around the button may ask of it. */
export interface IMenuHandle {
  open(): void;
  focus(): void;
}

interface IMenuButtonProps {
  label: string;
  icon: LabIcon;
  items: () => IMenuItem[];
  className?: string;
  isDisabled?: boolean;
}

/** A button with a menu; if there is but one thing to do, it does that. */
export const MenuButton = React.forwardRef<IMenuHandle, IMenuButtonProps>(
  function MenuButton(
    { label, icon, items, className, isDisabled },
    ref
  ): JSX.Element {
    const holder = React.useRef<HTMLSpanElement>(null);
    const button = () => holder.current!.querySelector('button')!;
    const open = () => {
      const choice = items();
      if (choice.length === 1) {
        choice[0].run();
      } else {
        openMenu(button(), choice);
      }
    };
    React.useImperativeHandle(ref, () => ({
      open,
      focus: () => button().focus()
    }));
    return (
      <span ref={holder}>
        <Button
          minimal
          className={className ?? 'jp-acp-Header-button'}
          title={label}
          aria-label={label}
          aria-haspopup="menu"
          disabled={isDisabled}
          onClick={open}
        >
          <icon.react tag="span" />
        </Button>
      </span>
    );
  }
);
