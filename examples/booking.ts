// Books rooms of a small hotel. The types check, and yet Ann and Bob get the same room: why?
//
//     node examples/booking.ts          (Node.js 22.18 or newer; npx tsx examples/booking.ts with older ones)

import { setTimeout as delay } from "node:timers/promises";

interface Stay {
  guest: string;
  room: number;
  night: string;
}

const rooms: number[] = [101, 102, 103];
const stays: Stay[] = [];

async function isFree(room: number, night: string): Promise<boolean> {
  await delay(1); // Like a database query.
  return !stays.some((stay) => stay.room === room && stay.night === night);
}

async function book(guest: string, night: string): Promise<Stay> {
  const room = rooms.find((room) => isFree(room, night));
  if (room === undefined) {
    throw new Error(`no room for ${guest} on ${night}`);
  }
  const stay: Stay = { guest, room, night };
  stays.push(stay);
  return stay;
}

async function main(): Promise<void> {
  for (const guest of ["Ann", "Bob"]) {
    const stay = await book(guest, "24 May");
    console.log(`${stay.guest} sleeps in ${stay.room}`);
  }
}

main();
