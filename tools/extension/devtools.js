// Adds the panel to the developer tools of Chromium and Firefox.
const { devtools } = globalThis.chrome;

devtools.panels.create('Trench', 'icon.svg', 'panel.html');
