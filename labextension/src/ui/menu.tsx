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

interface IMenuButtonProps {
  label: string;
  icon: LabIcon;
  items: () => IMenuItem[];
  className?: string;
  isDisabled?: boolean;
}

/** A button with a menu; if there is but one thing to do, it does that. */
export function MenuButton({
  label,
  icon,
  items,
  className,
  isDisabled
}: IMenuButtonProps): JSX.Element {
  return (
    <MenuOpener
      label={label}
      icon={icon}
      className={className}
      isDisabled={isDisabled}
      onOpen={anchor => {
        const choice = items();
        if (choice.length === 1) {
          choice[0].run();
        } else {
          openMenu(anchor, choice);
        }
      }}
    />
  );
}

interface IMenuOpenerProps {
  label: string;
  icon: LabIcon;
  className?: string;
  isDisabled?: boolean;
  onOpen: (anchor: HTMLElement) => void;
}

/** A button that opens a menu at itself. */
export const MenuOpener = React.forwardRef<HTMLSpanElement, IMenuOpenerProps>(
  function MenuOpener(
    { label, icon, className, isDisabled, onOpen },
    ref
  ): JSX.Element {
    return (
      <span ref={ref}>
        <Button
          minimal
          className={className ?? 'jp-acp-Header-button'}
          title={label}
          aria-label={label}
          aria-haspopup="menu"
          disabled={isDisabled}
          onClick={event => onOpen(event.currentTarget)}
        >
          <icon.react tag="span" />
        </Button>
      </span>
    );
  }
);
