// Every state of the widget: its own panel, with a store and a connection that do nothing, and a conversation from here.

const gallery = document.querySelector("[data-gallery]");
const { stories } = await import("./stories.js");
const { create } = await import(gallery.dataset.gallery);

/** Something whose every method does nothing, but for those that are given. */
const still = (known) => new Proxy(known, { get: (target, name) => (name in target ? target[name] : () => {}) });

const narrow = matchMedia("(max-width: 639.98px)");

for (const { act = () => {}, ...story } of stories(location.origin)) {
  const store = still({ load: () => story.thread ?? null, fp: () => "gallery", listPast: () => story.past ?? [] });
  const options = { ...story.options, domain: "gallery", key: "" };
  const panel = create(options, location.href, {
    store,
    client: still({ rate: async () => true, forget: async () => true }),
  });
  const stage = document.createElement("div");
  stage.className = "stage";
  stage.id = `state-${story.name}`;
  stage.append(panel);
  const caption = document.createElement("figcaption");
  const title = document.createElement("h2");
  title.textContent = story.title;
  const about = document.createElement("p");
  about.textContent = story.about;
  caption.append(title, about);
  const figure = document.createElement("figure");
  figure.append(caption, stage);
  gallery.append(figure);

  const show = () => {
    panel.show({ focus: false });
    act(panel);
  };
  const look = () => {
    // On a small screen a panel covers all of it, so there each is opened by hand.
    if (narrow.matches) panel.hide();
    else show();
  };
  const open = document.createElement("button");
  open.type = "button";
  open.textContent = "Show";
  open.addEventListener("click", show);
  caption.append(open);
  narrow.addEventListener("change", look);
  look();
}

// Menus and pages take the focus when they open; here nobody opened them.
document.activeElement?.blur();
scrollTo({ top: 0, behavior: "instant" });
