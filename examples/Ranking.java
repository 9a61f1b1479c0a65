/* The ranking of a chess club. Players with the same rating share a place. */
import java.util.ArrayList;
import java.util.List;

class Ranking {
    record Player(String name, Integer rating) { }

    static boolean isLevel(Player one, Player other) {
        return one.rating() == other.rating();
    }

    static List<String> places(List<Player> players) {
        List<String> lines = new ArrayList<>();
        int place = 0;
        for (int index = 0; index < players.size(); index++) {
            Player player = players.get(index);
            if (index == 0 || !isLevel(player, players.get(index - 1))) {
                place = index + 1;
            }
            lines.add(place + ". " + player.name());
        }
        return lines;
    }

    public static void main(String[] arguments) {
        List<Player> players = List.of(new Player("Ann", 1720), new Player("Bob", 1720), new Player("Eve", 90));
        places(players).forEach(System.out::println);
    }
}
