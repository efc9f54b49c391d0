(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const map = document.querySelector("svg.map");
  const tip = document.getElementById("tip");
  const ring = map.querySelector(".ring");
  const points = [...map.querySelectorAll(".points use")];
  const xs = points.map((p) => p.x.baseVal.value);
  const ys = points.map((p) => p.y.baseVal.value);
  const clusters = points.map((p) => p.parentNode.dataset.cluster);
  let focused = null;

  // --- hover texts: those of the point nearest to the pointer ------------------------------------------------------
  const thumbnail = (at) => {
    const sheet = data.thumbnails;
    if (!sheet) return null;
    const scale = Math.max(1, Math.floor(96 / Math.max(sheet.width, sheet.height)));
    const box = document.createElement("i");
    const rows = Math.ceil(points.length / sheet.columns);
    box.style.width = sheet.width * scale + "px";
    box.style.height = sheet.height * scale + "px";
    box.style.backgroundImage = `url(${sheet.picture})`;
    box.style.backgroundSize = `${sheet.columns * sheet.width * scale}px ${rows * sheet.height * scale}px`;
    box.style.backgroundPosition =
      `${-(at % sheet.columns) * sheet.width * scale}px ${-Math.floor(at / sheet.columns) * sheet.height * scale}px`;
    box.className = sheet.look;
    return box;
  };
  const show = (at, left, top) => {
    tip.replaceChildren();
    const picture = thumbnail(at);
    if (picture) tip.append(picture);
    data.hover[at].forEach((text, line) => {
      const element = document.createElement(line ? "span" : "b");
      element.textContent = text;
      if (text) tip.append(element);
    });
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const x = left + 16 + box.width > innerWidth - 8 ? left - 16 - box.width : left + 16;
    const y = Math.min(Math.max(8, top - box.height / 2), innerHeight - box.height - 8);
    tip.style.left = Math.max(8, x) + "px";
    tip.style.top = y + "px";
    ring.setAttribute("cx", xs[at]);
    ring.setAttribute("cy", ys[at]);
    ring.setAttribute("visibility", "visible");
  };
  const hide = () => {
    tip.hidden = true;
    ring.setAttribute("visibility", "hidden");
  };
  const toScreen = (x, y) => new DOMPoint(x, y).matrixTransform(map.getScreenCTM());
  const nearest = (event) => {
    const matrix = map.getScreenCTM();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const reach = (event.pointerType === "touch" ? 28 : 14) / matrix.a;
    let best = -1, closest = reach * reach;
    for (let i = 0; i < xs.length; i++) {
      if (focused !== null && clusters[i] !== focused) continue;
      const d = (xs[i] - at.x) ** 2 + (ys[i] - at.y) ** 2;
      if (d < closest) { closest = d; best = i; }
    }
    return best;
  };
  const follow = (event) => {
    const at = nearest(event);
    at < 0 ? hide() : show(at, event.clientX, event.clientY);
  };
  map.addEventListener("pointermove", follow);
  map.addEventListener("pointerdown", follow);
  map.addEventListener("pointerleave", hide);
  addEventListener("scroll", hide, { passive: true });
  const drawnAt = new Map(data.order.map((position, at) => [position, at]));
  for (const medoid of map.querySelectorAll(".medoid")) {
    medoid.querySelector("title").remove(); // the tooltip says more
    const at = drawnAt.get(Number(medoid.dataset.point));
    medoid.addEventListener("focus", () => {
      const where = toScreen(xs[at], ys[at]);
      show(at, where.x, where.y);
    });
    medoid.addEventListener("blur", hide);
    medoid.addEventListener("click", () => toggle(medoid.dataset.cluster));
    medoid.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(medoid.dataset.cluster); }
    });
  }

  // --- one cluster at a time ---------------------------------------------------------------------------------------
  const toggle = (cluster) => {
    focused = focused === cluster ? null : cluster;
    map.classList.toggle("focused", focused !== null);
    for (const group of map.querySelectorAll("g[data-cluster]")) {
      group.classList.toggle("on", group.dataset.cluster === focused);
    }
    for (const button of document.querySelectorAll("button[data-focus]")) {
      button.setAttribute("aria-pressed", String(button.dataset.focus === focused));
    }
    hide();
  };
  for (const button of document.querySelectorAll("button[data-focus]")) {
    button.addEventListener("click", () => {
      toggle(button.dataset.focus);
      if (button.closest(".clusters") && focused !== null) map.scrollIntoView({ block: "center" });
    });
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") { hide(); if (focused !== null) toggle(focused); }
  });
})();
