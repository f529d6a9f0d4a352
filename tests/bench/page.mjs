// Copyright (c) Jupyter ACP contributors.
// Distributed under the terms of the Modified BSD License.

// The chat in a real Chromium. Arguments: the address of a JupyterLab, its token, `quick` or
// `full`. Prints one JSON object of figures; run.py makes ratios of them.

import { createRequire } from "node:module";

const require = createRequire(
  new URL("../browser/package.json", import.meta.url),
);
const { chromium } = require("@playwright/test");

const [base, token, size] = process.argv.slice(2);
const SPENT = ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"];
const rounds = size === "quick" ? 1 : 5;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || undefined,
  args: ["--no-sandbox"],
});
const context = await browser.newContext({
  baseURL: base,
  viewport: { width: 1280, height: 860 },
  extraHTTPHeaders: { Authorization: `token ${token}` },
});

/** JupyterLab with the chat open, and its session with an agent. */
async function lab(name) {
  const page = await context.newPage();
  await page.goto(`/lab/workspaces/${name}?reset`);
  await page.waitForFunction(() => "jupyterapp" in window);
  await page.evaluate(() => window.jupyterapp.restored);
  await page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        window.longest = Math.max(window.longest, duration);
      }
    }).observe({ type: "longtask" });
  });
  await execute(page, "jupyter-acp-bridge:open");
  // JupyterLab goes on loading for a while; that is not what is measured.
  await page.waitForTimeout(2000);
  return page;
}

function execute(page, id, args = {}) {
  return page.evaluate(
    ([id, args]) => window.jupyterapp.commands.execute(id, args),
    [id, args],
  );
}

async function session(page, agent) {
  await execute(page, "jupyter-acp-bridge:new-session", { agent });
  await page.locator(".jp-acp-Prompt-input").waitFor();
}

/** Send a prompt; resolves to the milliseconds until the answer is there, whole. */
async function ask(page, text, end) {
  await page.locator(".jp-acp-Prompt-input").fill(text);
  return page.evaluate(async (end) => {
    window.longest = 0;
    const start = performance.now();
    document.querySelector(".jp-acp-mod-send").click();
    const log = document.querySelector(".jp-acp-Chat [role=log]");
    const isThere = () => {
      const last = [...log.querySelectorAll(".jp-acp-Markdown")].at(-1);
      return (
        log.getAttribute("aria-busy") === "false" &&
        last?.textContent.trimEnd().endsWith(end)
      );
    };
    while (!isThere()) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return performance.now() - start;
  }, end);
}

/** The same turn over a bare socket in the same page: nothing is shown. */
function bare(page, agent, text) {
  return page.evaluate(
    async ([agent, text]) => {
      const url = new URL("acp/ws", document.baseURI);
      url.protocol = "ws:";
      url.pathname = "/acp/ws";
      const socket = new WebSocket(url, "acp.ndjson");
      await new Promise((resolve) => (socket.onopen = resolve));
      let id = 0;
      const waiting = new Map();
      let count = 0;
      socket.onmessage = ({ data }) => {
        for (const line of data.split("\n")) {
          const message = JSON.parse(line);
          count++;
          if (!message.method) {
            waiting.get(message.id)?.(message.result);
          }
        }
      };
      const request = (method, params) =>
        new Promise((resolve) => {
          waiting.set(++id, resolve);
          const message = { jsonrpc: "2.0", id, method, params };
          socket.send(JSON.stringify(message));
        });
      const { _meta } = await request("initialize", {
        protocolVersion: 1,
        clientCapabilities: { _meta: { "jupyter-acp": {} } },
      });
      const { sessionId } = await request("session/new", {
        cwd: _meta["jupyter-acp"].rootDir,
        mcpServers: [],
        _meta: { "jupyter-acp": { agent } },
      });
      const start = performance.now();
      const prompt = [{ type: "text", text }];
      await request("session/prompt", { sessionId, prompt });
      const time = performance.now() - start;
      socket.close();
      return { time, count };
    },
    [agent, text],
  );
}

/** Bytes that a page receives over websockets while something happens. */
async function received(page, work) {
  const client = await context.newCDPSession(page);
  await client.send("Network.enable");
  let bytes = 0;
  client.on("Network.webSocketFrameReceived", ({ response }) => {
    bytes += response.payloadData.length;
  });
  await work();
  await client.detach();
  return bytes;
}

/**
 * Seconds that the main thread spent on scripts and layout while something
 * happened. Painting is left out: without a graphics card it is most of it.
 */
async function busy(page, work) {
  const client = await context.newCDPSession(page);
  await client.send("Performance.enable");
  const read = async () => {
    const { metrics } = await client.send("Performance.getMetrics");
    return metrics
      .filter(({ name }) => SPENT.includes(name))
      .reduce((sum, { value }) => sum + value, 0);
  };
  const before = await read();
  await work();
  const after = await read();
  await client.detach();
  return after - before;
}

/** Frames a second while a person types. */
async function typing(page, until) {
  await page.evaluate(() => {
    window.frames_ = 0;
    window.counting = true;
    const count = () => {
      window.frames_++;
      if (window.counting) {
        requestAnimationFrame(count);
      }
    };
    window.since = performance.now();
    requestAnimationFrame(count);
  });
  const input = page.locator(".jp-acp-Prompt-input");
  await input.focus();
  while (!(await until())) {
    await page.keyboard.type("typing on and on ", { delay: 15 });
  }
  return page.evaluate(() => {
    window.counting = false;
    return (window.frames_ * 1000) / (performance.now() - window.since);
  });
}

/** What a chat does that renders the whole message again for each frame. */
async function naive(page, text) {
  return page.evaluate(async (text) => {
    const registry = window.jupyterapp.pluginRegistry;
    const token = [...registry._services.keys()].find(({ name }) =>
      name.endsWith(":IRenderMimeRegistry"),
    );
    const rendermime = await registry.resolveOptionalService(token);
    const host = document.createElement("div");
    document.querySelector(".jp-acp-Chat").append(host);
    // As many chunks as come in a frame.
    const chunks = text.match(/[^]{1,200}/g);
    let shown = "";
    for (const chunk of chunks) {
      shown += chunk;
      const renderer = rendermime.createRenderer("text/markdown");
      const data = { "text/markdown": shown };
      await renderer.renderModel({
        trusted: false,
        data,
        metadata: {},
        setData: () => undefined,
      });
      host.replaceChildren(renderer.node);
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    host.remove();
  }, text);
}

const median = (values) =>
  values.sort((one, other) => one - other)[Math.floor(values.length / 2)];

const figures = {};

// Ten thousand chunks as fast as they come.
{
  const ratios = [];
  let longest = 0;
  const page = await lab("flood");
  for (let round = 0; round < rounds; round++) {
    const alone = await bare(page, "builtin", "/stream 10000");
    await session(page, "builtin");
    const time = await ask(page, "/stream 10000", " 10000");
    longest = Math.max(longest, await page.evaluate(() => window.longest));
    ratios.push(time / alone.time);
  }
  // By itself: looking at every frame takes its time.
  await session(page, "builtin");
  const wire = await received(page, () => ask(page, "/stream 10000", " 10000"));
  figures.flood = { ratio: median(ratios), wire, longest };
  await page.close();
}

// A long answer with much code, typed under, and what a naive chat would cost.
{
  const page = await lab("answer");
  await session(page, "load");
  const idle = await typing(
    page,
    (() => {
      let left = 6;
      return async () => left-- <= 0;
    })(),
  );
  await page.locator(".jp-acp-Prompt-input").fill("markdown 50000 20 300");
  await page.locator(".jp-acp-Prompt-input").press("Enter");
  const isDone = () =>
    page.evaluate(
      () =>
        document
          .querySelector(".jp-acp-Chat [role=log]")
          .getAttribute("aria-busy") === "false",
    );
  let streaming = 0;
  await page.evaluate(() => (window.longest = 0));
  streaming = await typing(page, isDone);
  const longest = await page.evaluate(() => window.longest);
  await session(page, "load");
  const ours = await busy(page, () =>
    ask(page, "markdown 50000 20 300", "The end."),
  );
  const text = await page.evaluate(async (token) => {
    const get = async (path) => {
      const headers = { Authorization: `token ${token}` };
      return (await fetch(`/acp/sessions${path}`, { headers })).json();
    };
    const [{ id }] = (await get("")).sessions;
    let text = "";
    for (let after = 0, more = true; more;) {
      const { messages } = await get(
        `/${id}/messages?after=${after}&limit=1000`,
      );
      for (const { params } of messages) {
        if (params.update?.sessionUpdate === "agent_message_chunk") {
          text += params.update.content.text;
        }
        after = params._meta["jupyter-acp"].seq;
      }
      more = messages.length > 0;
    }
    return text;
  }, token);
  const theirs = await busy(page, () => naive(page, text));
  figures.answer = { idle, streaming, longest, ours, naive: theirs };
  await page.close();
}

// A long session, opened and scrolled through.
{
  const page = await lab("long");
  await session(page, "load");
  await page.locator(".jp-acp-Prompt-input").fill("messages 10000");
  await page.locator(".jp-acp-Prompt-input").press("Enter");
  await page.waitForFunction(
    () =>
      document
        .querySelector(".jp-acp-Chat [role=log]")
        .getAttribute("aria-busy") === "false",
    null,
    { timeout: 60_000 },
  );
  const id = await page.evaluate(async (token) => {
    const response = await fetch("/acp/sessions", {
      headers: { Authorization: `token ${token}` },
    });
    return (await response.json()).sessions[0].id;
  }, token);
  await page.close();
  const times = [];
  let longest = 0;
  let frames = 0;
  for (let round = 0; round < rounds; round++) {
    const again = await lab(`opened-${round}`);
    await again.locator(".jp-acp-Chat").waitFor();
    times.push(
      await again.evaluate(async (id) => {
        window.longest = 0;
        const start = performance.now();
        await window.jupyterapp.commands.execute(
          "jupyter-acp-bridge:open-session",
          { id },
        );
        const isThere = () =>
          [...document.querySelectorAll(".jp-acp-Chat .jp-acp-Markdown")]
            .at(-1)
            ?.textContent.includes("message 9999");
        while (!isThere()) {
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        return performance.now() - start;
      }, id),
    );
    const scrolled = await again.evaluate(async () => {
      window.longest = 0;
      const scroller = document.querySelector(".jp-acp-Chat [role=log]");
      const start = performance.now();
      let frames = 0;
      while (performance.now() - start < 2000) {
        scroller.scrollTop -= 150;
        await new Promise((resolve) => requestAnimationFrame(resolve));
        frames++;
      }
      return {
        frames: (frames * 1000) / (performance.now() - start),
        longest: window.longest,
      };
    });
    longest = Math.max(longest, scrolled.longest);
    frames = Math.max(frames, scrolled.frames);
    await again.close();
  }
  figures.long = { open: median(times), frames, longest };
}

await browser.close();
console.log(JSON.stringify(figures));
