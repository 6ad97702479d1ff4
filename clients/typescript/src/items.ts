import type { components } from "./schema.js";
import { follow, type Message, type Way } from "./stream.js";

type Item = components["schemas"]["Item"];
type ItemChange = components["schemas"]["ItemChange"];

/** Which items to follow, and until when. */
export interface ItemOptions {
  /** How many items to begin with: 50 if left out, at most 500. */
  limit?: number;
  /** Only items that changed after this event. */
  after?: number;
  /** Ends the stream, without an error. */
  signal?: AbortSignal;
}

/** The items of a session after a change. */
export interface ItemList {
  /** The items in order. Neither the list nor an item changes later: a changed item is a new object. */
  items: Item[];
  /** There are older items: get them with `items(session, { before: items[0].id })`. */
  more: boolean;
  /** The items that the last message added or changed, in order. */
  changed: Item[];
}

/** Applies the messages of a stream of items. */
class Items {
  private readonly byId = new Map<string, Item>();
  private more = false;

  /** Removes what the server's log does not have: a stream that is resumed sends it again if it still holds. */
  forgetUnsaved(): void {
    for (const item of this.byId.values()) {
      if (item.unsaved) this.byId.delete(item.id);
    }
  }

  apply(change: ItemChange): ItemList {
    if (change.reset) {
      this.byId.clear();
      this.more = change.more ?? false;
    }
    const changed = new Set<string>();
    const put = (item: Item) => {
      this.byId.set(item.id, item);
      changed.add(item.id);
    };
    change.removed?.forEach((id) => this.byId.delete(id));
    change.items?.forEach(put);
    for (const { id, text } of change.appended ?? []) {
      const item = this.byId.get(id);
      if (item) put({ ...item, text: (item.text ?? "") + text });
    }
    const items = [...this.byId.values()].sort((a, b) => a.seq - b.seq || (a.part ?? 0) - (b.part ?? 0));
    return { items, more: this.more, changed: items.filter((item) => changed.has(item.id)) };
  }
}

/** Follows the items of a session: see Pawl.followItems. */
export function followItems(way: Way, session: string, options: ItemOptions = {}): AsyncGenerator<ItemList, void, undefined> {
  const list = new Items();
  let last = options.after ? String(options.after) : "";
  const query = options.limit ? `?limit=${options.limit}` : "";
  const source = {
    path: `/v1/sessions/${encodeURIComponent(session)}/items/stream${query}`,
    resume() {
      list.forgetUnsaved();
      return last;
    },
    accept({ id, data }: Message) {
      last = id || last;
      return list.apply(data as ItemChange);
    },
  };
  return follow(way, source, options.signal);
}
